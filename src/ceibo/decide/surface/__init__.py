"""What pictures of a belief are computed from: where to look, and what was believed when.

grids        points along one parameter and over two
existence    where parameters exist, of spaces in which not all do everywhere
ruled        where rules hold, and paths that stay within them
sensitivity  how much each parameter matters
sight        which values a picture over the trials has in sight
spread       a few of many items
standings    what was believed of the best setting as the trials came in
"""

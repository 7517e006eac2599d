"""What records say, by the rules that the plans fixed before they were made.

`python -m ceibo_lab.verdicts FOLDER` prints every figure; FOLDER holds records.
"""

"""Tables of trials: worksheets written and read, files imported and exported.

grid, table, names      cells of a file, the row that names the columns, and how names are compared
text_file, workbook     the files: CSV, and .xlsx by openpyxl
numerals, dates         numbers and days as people write them
settings, results       cells as values of parameters, and as what was measured
columns, places         what columns are called, and where they are in a table
entries, whole          the rows of a table: the one reader behind all doors
problems                everything that is wrong, by cell
rows, importing         rows as trials of their own (`ceibo import`)
matching, reconcile     rows compared with the record of a study
reading                 `Study.read_sheet`
plan, guide             what stands on a worksheet
text_plan, workbook_plan, sheet    writing it: `Study.sheet`
exporting, cells        all trials as CSV, and texts that no program runs as formulas
"""

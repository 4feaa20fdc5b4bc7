# Lets `snakemake` find the workflow from here: what a person can ask for is in workflow/Snakefile.


include: "workflow/Snakefile"


workflow.default_target = "all"  # that of an included file does not count

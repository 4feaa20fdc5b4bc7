# Lets `snakemake` find the workflow from here: what a person can ask for is in workflow/Snakefile.


include: "workflow/Snakefile"

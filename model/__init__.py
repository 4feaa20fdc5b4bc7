"""What decides a run's weights and measures. It imports torch, numpy, scipy and safetensors: no
Snakemake, no paper, nothing of `workflow`.

From the ground up: `store` and `build`, `normalizers` and `kernels`, `layers`, `batches`,
`architectures`, `objectives`, `training`, `probes`, `bundle`. Each imports only what stands before
it here.
"""

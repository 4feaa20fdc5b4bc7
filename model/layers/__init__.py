"""What architectures are built of: attention, blocks, roles, packing, the receptive field.

They import normalizers and kernels.
"""

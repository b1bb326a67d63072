"""The configurations that Python programs read: Hydra, yacs, OpenMMLab, Lightning, and plain files."""

"""Model providers behind one port; the only importer of model SDKs."""

# Installation: written together with the consumer check.

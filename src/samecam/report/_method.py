"""What the method rests on, as docs/method.md has it."""

REFERENCES = (
    "Q.-T. Phan, G. Boato, F. G. B. De Natale: Accurate and Scalable Image Clustering Based On "
    "Sparse Representation of Camera Fingerprint. IEEE Transactions on Information Forensics and "
    "Security, 2019.",
    "J. Lukáš, J. Fridrich, M. Goljan: Digital Camera Identification from Sensor Pattern Noise. "
    "IEEE Transactions on Information Forensics and Security 1(2), 2006.",
    "M. Chen, J. Fridrich, M. Goljan, J. Lukáš: Determining Image Origin and Integrity Using "
    "Sensor Noise. IEEE Transactions on Information Forensics and Security 3(1), 2008.",
    "ENFSI: Guideline for Evaluative Reporting in Forensic Science, 2015.",
    "D. Meuwly, D. Ramos, R. Haraksim: A guideline for the validation of likelihood ratio methods "
    "used for forensic evidence evaluation. Forensic Science International 276, 2017.",
)

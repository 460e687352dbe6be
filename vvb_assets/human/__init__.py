"""The human study: pair design, votes, Bradley-Terry strengths, and how far judges and people agree."""

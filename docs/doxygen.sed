# How Doxygen reads our headers, which are written to be read as they stand: the first comment is about the file,
# and a comment behind a member is about that member.
2s/^ \* ([a-z]+\.h) - (.*)$/ * @file \1\n * @brief \2/
/^#/!s,^([^/]*[^ /])( +)/\* (.*)$,\1\2/**< \3,

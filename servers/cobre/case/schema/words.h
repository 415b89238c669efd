/**
 * words.h - what the members of a case's JSON files mean, for people and agents.
 */
#ifndef COBRE_CASE_SCHEMA_WORDS_H
#define COBRE_CASE_SCHEMA_WORDS_H

/**
 * The description of a member.
 *
 * @param file the schema's name: "config"
 * @param path "training.forward_passes", "stages[].blocks[].hours"; "" the file
 * @return NULL: there is none
 */
const char *cobre_words_of(const char *file, const char *path);

/** The default of a text member that its field table has none for; NULL: none. */
const char *cobre_words_default(const char *file, const char *path);

#endif

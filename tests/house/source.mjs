/*
 * source.mjs - source text taken apart: code, comments and strings.
 */

/** Where comments and strings begin, for the languages of one family. */
const FORMS = {
  c: /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g,
  js: /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\n\\])*\]|[^/\\\n[])+\//g,
  hash: /(?:^|(?<=\s))#[^\n]*|"(?:\\[^]|[^"\\])*"|'[^'\n]*'/g,
};

/** The family of a file, by its name; null for what has no comments. */
export function family(path) {
  if (/\.(c|h|cpp|css)$/.test(path))
    return "c";
  if (/\.m?js$/.test(path))
    return "js";
  return /\.cmake$|CMakeLists\.txt$|^scripts\/|Makefile$|\.sql$/.test(path) ? "hash" : null;
}

const blank = (text) => text.replace(/[^\n]/g, " ");

/** The line of a place in a text, counted from 1. */
export const lineAt = (text, index) => text.slice(0, index).split("\n").length;

/**
 * @return `code`: the text with comments and the insides of strings blanked, of the same length;
 *         `comments`: each with its
 * `text` and `index`
 */
export function takeApart(text, kind) {
  const comments = [];
  const code = text.replace(FORMS[kind], (part, index) => {
    const isComment = kind === "hash" ? part.startsWith("#") : part.startsWith("/*") || part.startsWith("//");
    if (isComment)
      comments.push({ text: part, index });
    return isComment ? blank(part) : part[0] + blank(part.slice(1, -1)) + part.slice(-1);
  });
  return { code, comments };
}

/** The index behind the parenthesis that closes the one before `begin`. */
export function closing(code, begin) {
  let depth = 1, at = begin;
  for (; depth > 0 && at < code.length; at++)
    depth += code[at] === "(" ? 1 : code[at] === ")" ? -1 : 0;
  return at;
}

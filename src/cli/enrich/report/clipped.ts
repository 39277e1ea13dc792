/** Cuts a text that a file brings, so that no file decides how large a page becomes. */
export function clipped(text: string, characters: number): string {
  if (text.length <= characters) return text
  // By characters, not by their halves, of which a character has two at most; one more shows that there is more.
  const whole = [...text.slice(0, 2 * (characters + 1))]
  return whole.length <= characters ? whole.join('') : `${whole.slice(0, characters - 1).join('')}…`
}

/** Characters of the name of a place. The longest real ones have about 170. */
export const NAME_LENGTH = 200

/** A guess without a vocabulary: four letters of English make a token, and one of most other scripts. */
export function estimateTokens(text: string): number {
  let others = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++
  return Math.ceil((text.length - others) / 4 + others)
}

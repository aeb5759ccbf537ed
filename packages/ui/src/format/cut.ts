/** `cutMiddle` keeps both ends of a long text, where similar values differ most. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const left = Math.ceil((most - 1) / 2)
  return `${text.slice(0, left)}…${text.slice(text.length - (most - 1 - left))}`
}

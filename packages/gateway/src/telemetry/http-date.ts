/** The Date header of the present second, made once for all messages of that second. */
export function createHttpDate(now: () => number = Date.now): () => string {
  let second = -1
  let text = ''
  return () => {
    const current = Math.floor(now() / 1000)
    if (current !== second) {
      second = current
      text = new Date(current * 1000).toUTCString()
    }
    return text
  }
}

/** Gives RFC 3339 UTC times with six fractional digits; the part up to the second is kept between calls. */
export function createTimestamp(now: () => number): () => string {
  let second = Number.NaN
  let prefix = ''
  return () => {
    const time = Math.floor(now())
    const currentSecond = Math.floor(time / 1000)
    if (currentSecond !== second) {
      second = currentSecond
      prefix = new Date(currentSecond * 1000).toISOString().slice(0, 19)
    }
    return prefix + (FRACTIONS[time - currentSecond * 1000] ?? '.000000Z')
  }
}

// The clock of the machine gives whole milliseconds, so there are only 1000 endings.
const FRACTIONS = Array.from({ length: 1000 }, (_, ms) => `.${String(ms).padStart(3, '0')}000Z`)

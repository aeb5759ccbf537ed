/** The digits of crypt(3), least significant first. */
export function digits(value: number, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++, value >>= 6) text += DIGITS[value & 63] ?? ''
  return text
}

/** Lets others have the thread. */
export type YieldThread = () => Promise<void>

/** About a fifth of a millisecond: other requests hardly notice. */
export const ROUNDS_PER_TURN = 100

const DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

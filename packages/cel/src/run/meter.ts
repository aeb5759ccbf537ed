import { CelError } from '../error.ts'

/** Steps left to the evaluation that is running. One evaluation at a time: JS has one thread. */
export const meter = { left: 0 }

export const exhausted = new CelError('budget', 'the expression took more steps than it may')

/** False when there is nothing left; whoever loops over n things spends n before or while doing so. */
export function spend(steps: number): boolean {
  meter.left -= steps
  return meter.left >= 0
}

/** Native string work is some sixty times cheaper per character than a step of an expression. */
export function spendText(length: number): boolean {
  return spend(1 + (length >> 6))
}

/** Strings and lists that would only fill the memory. */
export const MAX_SIZE = 16_777_216

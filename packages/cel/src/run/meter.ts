import { CelError } from '../error.ts'

/** The steps left in the running evaluation. JavaScript has one thread, so only one evaluation runs at a time. */
export const meter = { left: 0 }

export const exhausted = new CelError('budget', 'the expression exceeded its step limit')

/** Spends steps and returns false when the budget is exhausted. A loop over n items spends n before or during the loop. */
export function spend(steps: number): boolean {
  meter.left -= steps
  return meter.left >= 0
}

/** Charges native string work, which is about sixty times cheaper per character than a step. */
export function spendText(length: number): boolean {
  return spend(1 + (length >> 6))
}

/** The largest size of strings and lists; larger ones would only fill memory. */
export const MAX_SIZE = 16_777_216

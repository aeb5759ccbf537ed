import { failedClosed } from './decide.ts'
import type { GuardNote, TextMasker } from './guard.ts'
import type { Passage } from './passage.ts'
import type { Released, Stage } from './stage.ts'

/** A guard that masks as the text comes. */
export function maskerStage(
  masker: TextMasker,
  note: (note: Pick<GuardNote, 'verdict' | 'found' | 'reason'>) => void,
): Stage {
  return { push: (text) => release(() => masker.push(text)), end: () => release(() => masker.end()) }

  function release(take: () => readonly Passage[] | null): Released {
    const kinds = masker.found.size
    const masked = attempt(take)
    if ('kind' in masked) note({ verdict: 'failed', reason: masked.reason })
    else if (masker.found.size > kinds) note({ verdict: 'mask', found: [...masker.found] })
    return masked
  }
}

function attempt(take: () => readonly Passage[] | null): Released {
  try {
    return take() ?? failedClosed('a match is too long to be waited for')
  } catch {
    // What was thrown may hold the text.
    return failedClosed('the guard broke')
  }
}

import type { compileAi } from './compile-ai.ts'
import type { Ir } from './ir/resources.ts'

/**
 * Parts of the program that most configs do not need, loaded before the first config that does: calling language models
 * takes a third of all code, and whoever only routes HTTP starts faster without it.
 */
const loaded: { ai: typeof compileAi | null } = { ai: null }

/** Must be awaited before a config is compiled. */
export async function loadFeatures(ir: Ir): Promise<void> {
  if (loaded.ai !== null || !ir.backends.some(({ target }) => target.kind === 'ai')) return
  loaded.ai = (await import('./compile-ai.ts')).compileAi
}

export function loadedAi(): typeof compileAi {
  if (loaded.ai === null) throw new Error('loadFeatures was not awaited')
  return loaded.ai
}

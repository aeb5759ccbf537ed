import { later } from '../../../pipeline/compiled/later.ts'

/** Loaded for configs that accept keys of the store. */
export const createKeyGate = later(async () => (await import('./stored-keys.ts')).createKeyGate)

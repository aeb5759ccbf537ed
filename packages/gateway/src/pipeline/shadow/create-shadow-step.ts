import { later } from '../compiled/later.ts'

// Their code is loaded for configs with shadows.

/** Makes the shadow of a step. */
export const createShadowStep = later(async () => (await import('./shadow-step.ts')).createShadowStep)
/** Makes the shadow of rules that admit connections. */
export const createConnectionShadow = later(async () => (await import('./rules-shadow.ts')).createConnectionShadow)
/** Makes the step that adds the outcome of a connection to its requests. */
export const createConnectionStep = later(async () => (await import('./rules-shadow.ts')).createConnectionStep)

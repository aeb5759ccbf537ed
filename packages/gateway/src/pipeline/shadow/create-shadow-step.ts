import { later } from '../compiled/later.ts'

// The code of shadow policies is loaded only for configs that have some.

/** Creates the shadow of a policy's step. */
export const createShadowStep = later(async () => (await import('./shadow-step.ts')).createShadowStep)
/** Creates the shadow of rules that admit or refuse connections. */
export const createConnectionShadow = later(async () => (await import('./rules-shadow.ts')).createConnectionShadow)
/** Creates the step that copies the shadow outcome of a connection to each of its requests. */
export const createConnectionStep = later(async () => (await import('./rules-shadow.ts')).createConnectionStep)

import { later } from '../compiled/later.ts'

/** Makes the shadow of a step; its code is loaded for configs with shadows. */
export const createShadowStep = later(async () => (await import('./shadow-step.ts')).createShadowStep)

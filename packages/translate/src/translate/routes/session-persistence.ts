import type { Fields } from '../../resources/fields.ts'
import { durationAt } from './durations.ts'

/** Reads the session persistence of a rule. */
export function readPersistence(rule: Fields): Record<string, unknown> {
  if (!rule.has('sessionPersistence')) return {}
  const persistence = rule.object('sessionPersistence')
  const [sessionName, type] = [persistence.text('sessionName'), persistence.text('type')]
  const [absolute, idle] = [durationAt(persistence, 'absoluteTimeout'), durationAt(persistence, 'idleTimeout')]
  const cookie = persistence.object('cookieConfig')
  const lifetimeType = cookie.text('lifetimeType')
  cookie.done()
  persistence.done()
  return {
    sessionPersistence: {
      ...(type !== undefined && { type }),
      ...(sessionName !== undefined && { sessionName }),
      ...(absolute !== undefined && { absoluteTimeout: `${absolute}ms` }),
      ...(idle !== undefined && { idleTimeout: `${idle}ms` }),
      ...(lifetimeType !== undefined && { lifetimeType }),
    },
  }
}

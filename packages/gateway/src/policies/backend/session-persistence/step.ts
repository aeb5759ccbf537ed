import type { Env, Step } from '../../../pipeline/context/step.ts'
import { createSessions, type Session, traceSession } from '../../../pipeline/policy/sessions.ts'
import type { SessionPersistenceConfig } from '../../../schema/fields/session-persistence.ts'

/**
 * The sessions of the backends of one route, as a step of the route: a session chooses the backend before the weights do.
 * Keys are those of the backends, so a backend has the same sessions in all of its routes.
 */
export function backendSessions(configs: ReadonlyMap<string, SessionPersistenceConfig>, env: Env): Step {
  const sessionsByBackend = new Map([...configs].map(([key, config]) => [key, createSessions(config, key, env)]))
  return {
    request(rx) {
      let session: Session | null = null
      for (const [key, sessions] of sessionsByBackend) {
        session ??= sessions.find(rx, ({ backend }) => backend === key)
      }
      rx.sticky = session
      traceSession(rx, session)
    },
    response(rx) {
      const backend = rx.route?.backends[rx.backendIndex]?.key
      if (backend !== undefined) sessionsByBackend.get(backend)?.assign(rx)
    },
  }
}

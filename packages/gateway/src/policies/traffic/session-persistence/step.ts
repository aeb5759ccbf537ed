import { implementBoth } from '../../../pipeline/context/step.ts'
import { createSessions, traceSession } from '../../../pipeline/policy/sessions.ts'
import type { SessionPersistenceConfig } from '../../../schema/fields/session-persistence.ts'

export const sessionPersistence = implementBoth<SessionPersistenceConfig>((config, env) => {
  const sessions = createSessions(config, env.attachment, env)
  return {
    request(rx) {
      const session = sessions.find(rx)
      rx.sticky = session
      traceSession(rx, session)
    },
    response: (rx) => sessions.assign(rx),
  }
})

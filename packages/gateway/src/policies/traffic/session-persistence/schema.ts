import { definePolicy } from '../../../schema/define-policy.ts'
import { sessionPersistenceFields } from '../../../schema/fields/session-persistence.ts'

export const sessionPersistence = definePolicy({
  name: 'sessionPersistence',
  section: 'traffic',
  attach: ['route'],
  merge: 'replace',
  fileOnly: true,
  schema: sessionPersistenceFields('route').describe(
    'Sends all requests of a session to the backend and address of its first request.',
  ),
})

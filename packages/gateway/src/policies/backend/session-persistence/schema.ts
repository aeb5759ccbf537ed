import { definePolicy } from '../../../schema/define-policy.ts'
import { sessionPersistenceFields } from '../../../schema/fields/session-persistence.ts'

export const sessionPersistence = definePolicy({
  name: 'sessionPersistence',
  section: 'backend',
  attach: ['backend'],
  merge: 'replace',
  fileOnly: true,
  schema: sessionPersistenceFields('backend').describe(
    'Sends all requests of a session that began at this backend to the address of its first request.',
  ),
})

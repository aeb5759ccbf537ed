import { credential } from '../../../explain/credentials.ts'
import type { Explainer } from '../../../explain/subject.ts'

export const basic: Explainer = (subject) => credential(subject, 'user and password', 'basic')

import { credential } from '../../../findings/credentials.ts'
import type { Explainer } from '../../../findings/subject.ts'

export const basic: Explainer = (subject) => credential(subject, 'user and password', 'basic')

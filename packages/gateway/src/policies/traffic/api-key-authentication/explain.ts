import { credential } from '../../../findings/credentials.ts'
import type { Explainer } from '../../../findings/subject.ts'

export const apiKey: Explainer = (subject) => credential(subject, 'API key', 'api_key')

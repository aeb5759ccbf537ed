import { credential } from '../../../explain/credentials.ts'
import type { Explainer } from '../../../explain/subject.ts'

export const apiKey: Explainer = (subject) => credential(subject, 'API key', 'api_key')

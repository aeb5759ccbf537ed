import type { Library } from './client.ts'
import { sdk1 } from './sdk1.ts'
import { sdk2 } from './sdk2.ts'

export const libraries: Library[] = [...sdk1, ...sdk2]

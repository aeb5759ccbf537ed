import type { FunctionDefinition } from '@portico/cel/declare'
import { headerFunctions } from './header-functions.ts'
import { queryFunctions } from './query-functions.ts'

/** Functions of the gateway, beside those of the language and its library. */
export const gatewayFunctions: readonly FunctionDefinition[] = [...headerFunctions, ...queryFunctions]

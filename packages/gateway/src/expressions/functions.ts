import type { FunctionDefinition } from '@portico/cel/declare'
import { headerFunctions } from './header-functions.ts'
import { queryFunctions } from './query-functions.ts'

/** Functions that the gateway adds to the CEL language and its standard library. */
export const gatewayFunctions: readonly FunctionDefinition[] = [...headerFunctions, ...queryFunctions]

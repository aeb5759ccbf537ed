import type { FunctionDefinition } from '../environment.ts'
import { controlFunctions } from './control.ts'
import { flattenFunctions } from './flatten.ts'
import { jsonFunctions } from './json.ts'
import { mapFunctions } from './maps.ts'
import { networkFunctions } from './network.ts'
import { randomFunctions } from './random.ts'
import { regexFunctions } from './regex-replace.ts'
import { secretFunctions } from './secret.ts'
import { urlFunctions } from './url.ts'

/** Beyond standard CEL: what rules about traffic need. */
export const gatewayFunctions: readonly FunctionDefinition[] = [
  ...jsonFunctions,
  ...urlFunctions,
  ...controlFunctions,
  ...mapFunctions,
  ...regexFunctions,
  ...randomFunctions,
  ...flattenFunctions,
  ...networkFunctions,
  ...secretFunctions,
]

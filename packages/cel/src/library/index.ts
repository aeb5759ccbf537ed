import type { FunctionDefinition, VariableType } from '../declarations.ts'
import { controlFunctions, variablesFunction } from './control.ts'
import { conversionFunctions } from './conversions.ts'
import { coreFunctions } from './core.ts'
import { encoderFunctions } from './encoders.ts'
import type { Hash } from './hash.ts'
import { hashFunctions } from './hash.ts'
import { jsonFunctions } from './json.ts'
import { listFunctions } from './lists.ts'
import { mapFunctions } from './maps.ts'
import { mathFunctions } from './math.ts'
import { networkFunctions } from './network.ts'
import { optionalFunctions } from './optionals.ts'
import { randomFunctions } from './random.ts'
import { regexFunctions } from './regex-replace.ts'
import { secretFunctions } from './secret.ts'
import { stringFunctions } from './strings.ts'
import { timeFunctions } from './time.ts'
import { urlFunctions } from './url.ts'

const standard: readonly FunctionDefinition[] = [
  ...coreFunctions,
  ...conversionFunctions,
  ...timeFunctions,
  ...stringFunctions,
  ...mathFunctions,
  ...encoderFunctions,
  ...optionalFunctions,
]

/** Functions beyond standard CEL, for rules about traffic. */
const forTraffic: readonly FunctionDefinition[] = [
  ...jsonFunctions,
  ...urlFunctions,
  ...controlFunctions,
  ...mapFunctions,
  ...listFunctions,
  ...regexFunctions,
  ...randomFunctions,
  ...networkFunctions,
  ...secretFunctions,
]

/** Returns the functions of every environment; the reference page lists them too. */
export function libraryFunctions(
  hash: Hash | undefined,
  variables: ReadonlyMap<string, VariableType>,
): FunctionDefinition[] {
  return [...standard, ...forTraffic, ...hashFunctions(hash), variablesFunction(variables)]
}

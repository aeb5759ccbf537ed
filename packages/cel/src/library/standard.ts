import type { FunctionDefinition } from '../environment.ts'
import { conversionFunctions } from './conversions.ts'
import { coreFunctions } from './core.ts'
import { encoderFunctions } from './encoders.ts'
import { mathFunctions } from './math.ts'
import { optionalFunctions } from './optionals.ts'
import { stringFunctions } from './strings.ts'
import { timeFunctions } from './time.ts'

/** What every environment has. */
export const standardFunctions: readonly FunctionDefinition[] = [
  ...coreFunctions,
  ...conversionFunctions,
  ...timeFunctions,
  ...stringFunctions,
  ...mathFunctions,
  ...encoderFunctions,
  ...optionalFunctions,
]

import type { Command } from '../command.ts'
import { backtest } from './backtest.ts'
import { cache } from './cache.ts'
import { capsule } from './capsule.ts'
import { createComplete } from './complete.ts'
import { doctor } from './doctor.ts'
import { effective } from './effective.ts'
import { explain } from './explain.ts'
import { importConfig } from './import.ts'
import { keys } from './keys.ts'
import { lint } from './lint.ts'
import { prices } from './prices.ts'
import { rehearse } from './rehearse.ts'
import { requests } from './requests.ts'
import { shadow } from './shadow.ts'
import { status } from './status.ts'
import { teams } from './teams.ts'
import { test } from './test.ts'
import { top } from './top.ts'
import { trace } from './trace.ts'
import { translate } from './translate.ts'
import { usage } from './usage.ts'

const workers: readonly Command[] = [
  requests,
  explain,
  top,
  shadow,
  trace,
  status,
  effective,
  translate,
  test,
  backtest,
  capsule,
  rehearse,
  lint,
  doctor,
  importConfig,
  keys,
  teams,
  usage,
  cache,
  prices,
]

/** All commands; help and completion are built from this list. */
export const commands: readonly Command[] = [...workers, createComplete(workers)]

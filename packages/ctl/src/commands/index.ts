import type { Command } from '../command.ts'
import { createComplete } from './complete.ts'
import { trace } from './trace.ts'

const workers: readonly Command[] = [trace]

/** Every command; help and completion are made from this list. */
export const commands: readonly Command[] = [...workers, createComplete(workers)]

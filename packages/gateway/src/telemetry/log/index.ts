/** The log, for the other programs of this project. */
export { parseLogFilter } from './log-filter.ts'
export type { LogFilter, LogLevel } from './log-filter.ts'
export { LineWriter } from './line-writer.ts'
export { createLogger } from './logger.ts'
export type { LogFields, LogFormat, Logger, RootLogger } from './logger.ts'

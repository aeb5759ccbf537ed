import {
  convertToBool,
  convertToBytes,
  convertToDouble,
  convertToDuration,
  convertToInt,
  convertToString,
  convertToTimestamp,
  convertToUint,
} from '../run/convert.ts'
import { globalFunction } from './define.ts'

const atLoad = { pure: true, refusesAtLoad: true } as const

export const conversionFunctions = [
  globalFunction('int', 1, 'From uint, double (cut), string, timestamp (seconds).', convertToInt),
  globalFunction('uint', 1, 'From int, double (cut), string.', convertToUint),
  globalFunction('double', 1, 'From int, uint, string.', convertToDouble),
  globalFunction('string', 1, 'From numbers, bool, bytes (UTF-8), times, addresses.', convertToString),
  globalFunction('bytes', 1, 'From string, as UTF-8.', convertToBytes),
  globalFunction('bool', 1, 'From string: true, false, t, f, 1, 0.', convertToBool),
  globalFunction('timestamp', 1, 'From RFC 3339 text or seconds since 1970.', convertToTimestamp, atLoad),
  globalFunction('duration', 1, 'From text such as `1h30m` or `0.5s`.', convertToDuration, atLoad),
]

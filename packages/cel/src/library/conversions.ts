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
import { bool, bytes, double, duration, int, number, oneOf, string, timestamp, uint } from '../types.ts'
import { overload } from '../declarations.ts'

const atLoad = { pure: true, refusesAtLoad: true } as const

export const conversionFunctions = [
  globalFunction(
    'int',
    overload([oneOf(number, string, timestamp)], int),
    'From uint, double (cut), string, timestamp (seconds).',
    convertToInt,
  ),
  globalFunction('uint', overload([oneOf(number, string)], uint), 'From int, double (cut), string.', convertToUint),
  globalFunction('double', overload([oneOf(number, string)], double), 'From int, uint, string.', convertToDouble),
  globalFunction(
    'string',
    overload(['dyn'], string),
    'From numbers, bool, bytes (UTF-8), times, addresses.',
    convertToString,
  ),
  globalFunction('bytes', overload([oneOf(string, bytes)], bytes), 'From string, as UTF-8.', convertToBytes),
  globalFunction('bool', overload([oneOf(string, bool)], bool), 'From string: true, false, t, f, 1, 0.', convertToBool),
  globalFunction(
    'timestamp',
    overload([oneOf(string, int, timestamp)], timestamp),
    'From RFC 3339 text or seconds since 1970.',
    convertToTimestamp,
    atLoad,
  ),
  globalFunction(
    'duration',
    overload([oneOf(string, duration)], duration),
    'From text such as `1h30m` or `0.5s`.',
    convertToDuration,
    atLoad,
  ),
]

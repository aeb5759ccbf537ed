/** `@portico/http/text`: syntax of addresses and cookies; loads in a browser. */
export { codeAt } from '../wire/char-code.ts'
export { cookieValues } from '../wire/cookie-lines.ts'
export { isCidr, isIp, isIpv4, isIpv6 } from '../wire/ip.ts'

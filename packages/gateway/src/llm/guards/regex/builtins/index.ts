import type { Rule } from '../rule.ts'
import type { Builtin } from '../schema.ts'
import { caSin } from './ca-sin.ts'
import { creditCard } from './credit-card.ts'
import { email } from './email.ts'
import { phoneNumber } from './phone-number.ts'
import { ssn } from './ssn.ts'

export const builtins: Readonly<Record<Builtin, Rule>> = {
  Ssn: ssn,
  CreditCard: creditCard,
  PhoneNumber: phoneNumber,
  Email: email,
  CaSin: caSin,
}

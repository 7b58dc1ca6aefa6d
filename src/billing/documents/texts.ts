import type { Language } from '../../platform/text/languages.ts'

/** The words of statements and receipts. */
export interface Texts {
  pageLabel: string
  seller: string
  buyer: string
  taxId: (id: string) => string
  description: string
  amount: string
  date: string
  statement: {
    title: string
    name: (month: string) => string
    period: string
    days: (first: string, last: string) => string
    orgId: string
    provisional: (month: string, at: string) => string
    closing: (amount: string) => string
    balance: string
    openingBalance: string
    deposits: string
    refunds: string
    adjustments: string
    usage: string
    closingBalance: string
    entries: string
    omitted: (count: string) => string
    total: string
    usageTable: string
    model: string
    calls: string
    inputTokens: string
    outputTokens: string
    otherModels: string
    fee: string
    carriedIn: string
    carriedOut: string
    charged: string
    plans: string
    receipt: string
    planNote: string
    note: string
    usageNote: string
  }
  receipt: {
    title: string
    name: (label: string) => string
    number: string
    paidOn: string
    paymentId: string
    headline: (amount: string, day: string) => string
    addedOn: string
    directHeadline: (amount: string, day: string) => string
    directNote: string
    items: string
    deposit: string
    topup: string
    plan: (name: string | null) => string
    total: string
    paid: string
    credit: (amount: string) => string
    note: string
  }
  /** What the ledger says of transactions, which is in English. */
  notes: Record<string, string>
  planCredit: (plan: string) => string
  promotion: (code: string) => string
  types: Record<'deposit' | 'refund' | 'adjustment', string>
}

const english: Texts = {
  pageLabel: 'Page {page} of {pages}',
  seller: 'From',
  buyer: 'Bill to',
  taxId: (id) => `Tax ID: ${id}`,
  description: 'Description',
  amount: 'Amount',
  date: 'Date',
  statement: {
    title: 'Statement',
    name: (month) => `Statement for ${month}`,
    period: 'Period',
    days: (first, last) => `${first} to ${last} (UTC)`,
    orgId: 'Organization ID',
    provisional: (month, at) => `Provisional: ${month} is not over. The figures are those of ${at}.`,
    closing: (amount) => `Closing balance: ${amount}`,
    balance: 'Balance',
    openingBalance: 'Opening balance',
    deposits: 'Deposits',
    refunds: 'Refunds and disputes',
    adjustments: 'Credits and adjustments',
    usage: 'Usage',
    closingBalance: 'Closing balance',
    entries: 'Deposits, refunds and adjustments',
    omitted: (count) => `${count} more, listed under Transactions`,
    total: 'Total',
    usageTable: 'Usage by model',
    model: 'Model',
    calls: 'Calls',
    inputTokens: 'Input tokens',
    outputTokens: 'Output tokens',
    otherModels: 'Other models',
    fee: 'Platform fee',
    carriedIn: 'Carried over from before',
    carriedOut: 'Carried over to later',
    charged: 'Charged to the balance',
    plans: 'Payments for plans',
    receipt: 'Receipt',
    planNote: 'Payments for plans do not change the balance; the credit of a plan does, as an adjustment.',
    note: 'Amounts are in US dollars, days and times in UTC. This is a statement of a prepaid balance. Each payment has a receipt of its own.',
    usageNote:
      'Usage is charged in whole cents. A rest below a cent, and calls at the very end of a month, are carried over and charged later.',
  },
  receipt: {
    title: 'Receipt',
    name: (label) => `Receipt ${label}`,
    number: 'Receipt number',
    paidOn: 'Date paid',
    paymentId: 'Payment ID',
    headline: (amount, day) => `${amount} paid on ${day}`,
    addedOn: 'Date added',
    directHeadline: (amount, day) => `${amount} added on ${day}`,
    directNote: 'The amount was added to the balance without a payment.',
    items: 'Payment',
    deposit: 'Prepaid balance',
    topup: 'Prepaid balance, automatic top-up',
    plan: (name) => (name === null ? 'Monthly plan' : `Plan ${name}, one month`),
    total: 'Total',
    paid: 'Amount paid',
    credit: (amount) => `The plan added ${amount} of credit to the balance.`,
    note: 'Amounts are in US dollars, days in UTC. A later refund does not change this receipt; it is on the statement of its month.',
  },
  notes: {},
  planCredit: (plan) => `Monthly credit of the plan ${plan}`,
  promotion: (code) => `Promotion ${code}`,
  types: { deposit: 'Deposit', refund: 'Refund', adjustment: 'Adjustment' },
}

const german: Texts = {
  pageLabel: 'Seite {page} von {pages}',
  seller: 'Von',
  buyer: 'An',
  taxId: (id) => `Steuer-ID: ${id}`,
  description: 'Beschreibung',
  amount: 'Betrag',
  date: 'Datum',
  statement: {
    title: 'Monatsauszug',
    name: (month) => `Monatsauszug für ${month}`,
    period: 'Zeitraum',
    days: (first, last) => `${first} bis ${last} (UTC)`,
    orgId: 'ID der Organisation',
    provisional: (month, at) => `Vorläufig: Der Monat ${month} ist noch nicht abgeschlossen. Stand: ${at}.`,
    closing: (amount) => `Endguthaben: ${amount}`,
    balance: 'Guthaben',
    openingBalance: 'Anfangsguthaben',
    deposits: 'Aufladungen',
    refunds: 'Erstattungen und Rückbuchungen',
    adjustments: 'Gutschriften und Korrekturen',
    usage: 'Nutzung',
    closingBalance: 'Endguthaben',
    entries: 'Aufladungen, Erstattungen und Korrekturen',
    omitted: (count) => `${count} weitere, aufgeführt unter Transaktionen`,
    total: 'Summe',
    usageTable: 'Nutzung nach Modell',
    model: 'Modell',
    calls: 'Aufrufe',
    inputTokens: 'Eingabe-Token',
    outputTokens: 'Ausgabe-Token',
    otherModels: 'Andere Modelle',
    fee: 'Plattformgebühr',
    carriedIn: 'Übertrag aus früherer Nutzung',
    carriedOut: 'Übertrag in spätere Abrechnung',
    charged: 'Vom Guthaben abgebucht',
    plans: 'Zahlungen für Tarife',
    receipt: 'Zahlungsbeleg',
    planNote:
      'Zahlungen für Tarife ändern das Guthaben nicht; das im Tarif enthaltene Guthaben erscheint als Gutschrift.',
    note: 'Beträge in US-Dollar, Tage und Uhrzeiten in UTC. Dies ist ein Auszug eines Prepaid-Guthabens. Für jede Zahlung gibt es einen eigenen Zahlungsbeleg.',
    usageNote:
      'Nutzung wird in ganzen Cent abgebucht. Ein Rest unter einem Cent sowie Aufrufe ganz am Ende eines Monats werden übertragen und später abgebucht.',
  },
  receipt: {
    title: 'Zahlungsbeleg',
    name: (label) => `Zahlungsbeleg ${label}`,
    number: 'Belegnummer',
    paidOn: 'Bezahlt am',
    paymentId: 'Zahlungs-ID',
    headline: (amount, day) => `${amount} bezahlt am ${day}`,
    addedOn: 'Hinzugefügt am',
    directHeadline: (amount, day) => `${amount} hinzugefügt am ${day}`,
    directNote: 'Der Betrag wurde dem Guthaben ohne Zahlung hinzugefügt.',
    items: 'Zahlung',
    deposit: 'Prepaid-Guthaben',
    topup: 'Prepaid-Guthaben, automatische Aufladung',
    plan: (name) => (name === null ? 'Monatstarif' : `Tarif ${name}, ein Monat`),
    total: 'Summe',
    paid: 'Bezahlter Betrag',
    credit: (amount) => `Der Tarif hat dem Guthaben ${amount} hinzugefügt.`,
    note: 'Beträge in US-Dollar, Tage in UTC. Eine spätere Erstattung ändert diesen Beleg nicht; sie steht im Monatsauszug ihres Monats.',
  },
  notes: {
    'Direct deposit': 'Direkte Aufladung',
    'Automatic top-up': 'Automatische Aufladung',
    Refund: 'Erstattung',
    'Failed refund': 'Fehlgeschlagene Erstattung',
    Dispute: 'Rückbuchung',
    'Dispute won': 'Rückbuchung zurückgenommen',
    'Payment of a plan returned': 'Zahlung für einen Tarif erstattet',
    'Payment of a plan restored': 'Zahlung für einen Tarif wiederhergestellt',
  },
  planCredit: (plan) => `Monatliches Guthaben des Tarifs ${plan}`,
  promotion: (code) => `Aktion ${code}`,
  types: { deposit: 'Aufladung', refund: 'Erstattung', adjustment: 'Korrektur' },
}

const texts: Record<Language, Texts> = { en: english, de: german }

export const textsOf = (language: Language): Texts => texts[language]

/** The note of a transaction in the language of the texts; the operator's own words as they are. */
export const noteOf = (
  { types, notes, planCredit, promotion }: Texts,
  { type, notes: note }: { type: keyof Texts['types']; notes: string | null },
): string => {
  if (note === null || note === '') return types[type]
  const plan = /^Monthly credit of the plan ([\w-]+)$/.exec(note)?.[1]
  if (plan !== undefined) return planCredit(plan)
  const code = /^Promotion ([\w-]+)$/.exec(note)?.[1]
  if (code !== undefined) return promotion(code)
  return Object.hasOwn(notes, note) ? (notes[note] ?? note) : note
}

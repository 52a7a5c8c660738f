import { type ParsedDate, parseEndDate, parseStartDate } from '../../core/shared/date.ts';

interface DateTexts {
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** The fields of a campaign with texts as dates. */
export type WithDateTexts<F> = Omit<F, keyof DateTexts> & DateTexts;

/** The fields of a campaign with parsed dates. */
type WithParsedDates<F> = { [N in keyof F]: N extends keyof DateTexts ? ParsedDate | Extract<F[N], undefined> : F[N] };

/** Parses the dates of a campaign, as the API does before it calls the core. */
export function parseDates<F extends DateTexts>(fields: F): WithParsedDates<F> {
  const dates: Record<string, ParsedDate | undefined> = {};
  if (fields.startDate !== undefined) dates.startDate = parseStartDate(fields.startDate);
  if (fields.endDate !== undefined) dates.endDate = parseEndDate(fields.endDate);
  return { ...fields, ...dates } as WithParsedDates<F>;
}

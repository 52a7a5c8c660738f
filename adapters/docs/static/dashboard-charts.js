// The charts of the dashboard: one for each figure, with a common cursor.

import uPlot from './uplot.js';

const $ = (selector) => document.querySelector(selector);
/** The distances between the labels of days: up to a week, then weeks and quarters. */
const DAY_STEPS = [1, 2, 7, 14, 28, 91];
const COUNT_STEPS = Array.from({ length: 16 }, (_, i) => [1, 2, 5].map((step) => step * 10 ** i)).flat();
const { format } = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 4 });

let plots = [];

/**
 * Draws a chart of each figure of the days. `formatDay` returns the label of a day. Calls `onSelect` with the index of
 * the day that the pointer or `selectDay` selects, and with a missing index if none is selected.
 */
export function drawCharts(figures, days, formatDay, onSelect) {
  for (const plot of plots) plot.destroy();
  plots = figures.map((figure) => {
    const root = $(`.${figure} .chart`);
    const axis = { stroke: () => readColor($('.reading')), font: '12px system-ui', ticks: { show: false } };
    const grid = { stroke: () => fade(readColor($('.reading')), 0.2), width: 1 };
    const formatDays = (_, splits) => splits.map((i) => (days[i] ? formatDay(days[i]) : ''));
    const formatNumbers = (_, splits) => splits.map(format);
    const size = (_, values) => 8 + 7 * Math.max(2, ...(values ?? []).map(({ length }) => length));
    const incrs = figure === 'rewards' ? undefined : COUNT_STEPS;
    const options = {
      ...readSize(root),
      ...{ padding: [8, 24, 0, 0], legend: { show: false } },
      cursor: { y: false, drag: { x: false }, sync: { key: 'days' } },
      scales: {
        // The chart of a single day needs a range, too.
        x: { time: false, range: (_, min, max) => (min === max ? [min - 1, max + 1] : [min, max]) },
        y: { range: (_, _min, max) => [0, max * 1.05 || 1] },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 28, space: 64, incrs: DAY_STEPS, values: formatDays },
        { ...axis, grid, size, space: 20, gap: 8, incrs, values: formatNumbers },
      ],
      series: [
        {},
        { stroke: ({ root }) => readColor(root), fill: ({ root }) => fade(readColor(root), 0.12), width: 2 },
      ],
      hooks: { setCursor: [({ cursor }) => onSelect(cursor.idx)] },
    };
    return new uPlot(options, [days.map((_, i) => i), days.map((day) => Number(day[figure]))], root);
  });
}

/** Moves the cursor of all charts to a day, or removes it. */
export function selectDay(index) {
  const [plot] = plots;
  plot.setCursor({ left: index === null ? -10 : plot.valToPos(index, 'x'), top: 0 }, true, true);
}

const readColor = (element) => getComputedStyle(element).color;
const fade = (color, opacity) => color.replace('rgb', 'rgba').replace(')', `, ${opacity})`);
const readSize = ({ clientWidth: width, clientHeight: height }) => ({ width, height });
const redraw = () => {
  for (const plot of plots) plot.setSize(readSize(plot.root.parentElement));
};

new ResizeObserver(redraw).observe($('.chart'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

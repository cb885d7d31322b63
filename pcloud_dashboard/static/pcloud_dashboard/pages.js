/* What the pages of Pclouds do without being loaded again. */
(function () {
  'use strict';

  // Milliseconds between two looks at servers that are being moved.
  var SOON = 5000;
  var SELDOM = 60000;

  // Angular draws a message when it looks for changes, which nothing but its
  // own calls makes it do.
  function tell(type, words) {
    horizon.toast.add(type, words);
    angular.element(document.body).injector().get('$rootScope').$applyAsync();
  }

  // A switch of a host: the row of the host alone is drawn anew.
  $(document).on('submit', 'form.pcloud-switch', function (event) {
    var form = $(this);
    var button = form.find('button');
    event.preventDefault();
    button.prop('disabled', true);
    $.ajax({type: 'POST', url: form.attr('action'), data: form.serialize()})
      .done(function (answer) {
        if (answer.failure) {
          button.prop('disabled', false);
          tell('error', answer.failure);
          return;
        }
        var row = $($.parseHTML($.trim(answer.row)));
        form.closest('tr').replaceWith(row);
        row.find('button[role=switch]').trigger('focus');
        tell('success', answer.message);
      })
      .fail(function (answer) {
        if (leaveIfEnded(answer)) {
          return;
        }
        button.prop('disabled', false);
        tell('error', gettext('The page could not be reached. Please try again.'));
      });
  });

  // Whoever is logged in no more is led to the login, and from there back.
  function leaveIfEnded(answer) {
    if (answer.status !== 401) {
      return false;
    }
    window.location.assign(answer.getResponseHeader('X-Horizon-Location') ||
                           window.location.href);
    return true;
  }

  // The head of a Pcloud's page, which the page does not wait for.
  function fetchHead() {
    var part = $('#pcloud-head');
    if (!part.length) {
      return;
    }
    part.attr('aria-busy', 'true').text(gettext('Reading how full the Pcloud is …'));
    $.get(part.attr('data-address'))
      .done(function (answer) {
        part.empty().append($.parseHTML(answer));
      })
      .fail(function (answer) {
        if (!leaveIfEnded(answer)) {
          part.text(gettext('How full the Pcloud is could not be read.'));
        }
      })
      .always(function () {
        part.removeAttr('aria-busy');
      });
  }

  // Whoever closes a dialog of ours is back where it was opened.
  var opener = null;
  $(document).on('click', '.ajax-modal[href*="/pclouds/"], .ajax-modal[href*="/host_flavors/"]', function () {
    opener = this;
  });
  $(document).on('hidden.bs.modal', '.modal', function () {
    if (opener && $.contains(document, opener) && !$('.modal.in').length) {
      opener.focus();
    }
  });

  // Horizon gives the first field of a dialog the focus. In the one for hosts
  // that is the requirement: a key there would change the kind that is chosen.
  $(document).on('shown.bs.modal', '.modal', function () {
    var kind = $(this).find('form.pcloud-add-hosts [name=host_flavor]:checked');
    setTimeout(function () {
      kind.trigger('focus');
    });
  });

  // A button that copies an id. Without an encrypted connection browsers have
  // no clipboard for pages, but copy what is chosen.
  $(document).on('click', '.pcloud-copy', function () {
    var button = $(this);
    var field = $('<input>').val(button.attr('data-copy')).insertAfter(button);
    field.trigger('select');
    var copied = document.execCommand('copy');
    field.remove();
    button.trigger('focus');
    tell(copied ? 'success' : 'error', copied
      ? gettext('The ID is copied.') : gettext('The ID could not be copied.'));
  });

  // Another kind of scope has other ids to choose from.
  $(document).on('change', '#pcloud-scope', function () {
    $('#pcloud-scope-id').prop('disabled', true);
    this.form.submit();
  });

  // The dialog for more hosts: what is free in the zone, names and units.
  function freeIn(radio, zone) {
    return (radio.attr('data-free') || '').split(' ').filter(Boolean)
      .reduce(function (sum, each) {
        var end = each.lastIndexOf(':');
        return sum + (!zone || each.slice(0, end) === zone ? parseInt(each.slice(end + 1), 10) : 0);
      }, 0);
  }

  function namesOf(pattern, count, taken) {
    if (!/-\{n\}$/.test(pattern)) {
      if (count === 1) {
        return [pattern];
      }
      pattern += '-{n}';
    }
    var beginning = pattern.slice(0, -3);
    var highest = taken.reduce(function (number, name) {
      var rest = name.slice(beginning.length);
      return name.indexOf(beginning.toLowerCase()) === 0 && /^\d{1,6}$/.test(rest)
        ? Math.max(number, parseInt(rest, 10)) : number;
    }, 0);
    var names = [];
    while (names.length < count) {
      names.push(beginning + (highest + names.length + 1));
    }
    return names;
  }

  function text(format, values) {
    return interpolate(format, values, true);
  }

  function preview(form) {
    var zone = form.find('[name=availability_zone]').val();
    var waits = !!form.find('[name=wait_until]').val();
    form.find('[name=host_flavor][data-units]').each(function () {
      var radio = $(this);
      var card = radio.closest('.pcloud-card');
      var free = freeIn(radio, zone);
      radio.prop('disabled', !free && !waits);
      card.toggleClass('pcloud-none', !free && !waits);
      card.find('.pcloud-not-here').prop('hidden', free || !radio.attr('data-free'))
        .text(text(gettext('none free in %(zone)s'), {zone: zone}));
      if (!free && !waits && radio.prop('checked')) {
        radio.prop('checked', false);
      }
    });
    var count = Math.min(50, Math.max(1, parseInt(form.find('[name=count]').val(), 10) || 1));
    var taken = (form.attr('data-taken') || '').toLowerCase().split(' ');
    form.find('.pcloud-preview-names').text(
      namesOf(form.find('[name=name]').val(), count, taken).join(', ') + '.');
    var chosen = form.find('[name=host_flavor]:checked');
    var limit = parseInt(form.attr('data-limit'), 10);
    var used = parseInt(form.attr('data-used'), 10);
    var line = '';
    var over = false;
    var free = freeIn(chosen, zone);
    if (chosen.attr('data-units') && !isNaN(limit)) {
      var after = used + count * parseInt(chosen.attr('data-units'), 10);
      over = limit >= 0 && after > limit;
      line = limit < 0
        ? text(gettext('Units: %(used)s before, %(after)s after, no limit.'),
               {used: used, after: after})
        : text(gettext('Units: %(used)s of %(limit)s before, %(after)s of %(limit)s after.'),
               {used: used, after: after, limit: limit});
      if (over) {
        line += ' ' + text(gettext('That is %(more)s more than the quota allows.'),
                           {more: after - limit});
      }
      if (count > free && waits) {
        line += ' ' + text(gettext('%(free)s of this kind are free; the Pcloud waits for the others.'),
                           {free: free});
      } else if (count > free) {
        over = true;
        line += ' ' + text(gettext('No more than %(free)s of this kind are free.'), {free: free});
      }
    }
    form.find('.pcloud-preview').toggleClass('pcloud-over', over)
      .find('.pcloud-preview-units').text(line);
  }

  $(document).on('input change', 'form.pcloud-add-hosts', function () {
    preview($(this));
  });
  // Not on focus: Horizon gives the first field of a dialog the focus.
  $(document).on('input', 'form.pcloud-add-hosts [name=constraints]', function () {
    $(this).closest('.pcloud-card').find('[type=radio]').prop('checked', true);
    preview($(this.form));
  });
  function prepare(part) {
    $(part).find('form.pcloud-add-hosts').each(function () {
      preview($(this));
    });
  }
  horizon.modals.addModalInitFunction(prepare);
  $(function () {
    prepare(document);
    follow();
    fetchHead();
  });

  // The tab Moves: while servers are being moved, the part below the form is
  // read again and again. A question that is half written stays in the form.
  horizon.tabs.addTabLoadFunction(follow);

  function follow() {
    var part = $('#pcloud-plan-part');
    if (part.find('#pcloud-under-way').length && !part.hasClass('pcloud-followed')) {
      part.addClass('pcloud-followed');
      lookLater(part, SOON);
    }
  }

  function lookLater(part, wait) {
    setTimeout(function () {
      look(part, wait);
    }, wait);
  }

  function look(part, wait) {
    if (!$.contains(document, part[0])) {
      return;
    }
    if (document.hidden || !part.is(':visible') || isRead(part)) {
      lookLater(part, SOON);
      return;
    }
    var began = Date.now();
    $.get(part.attr('data-address'))
      .done(function (answer) {
        var fresh = $('<div>').append($.parseHTML(answer)).find('#pcloud-plan-part');
        if (!fresh.length) {
          part.removeClass('pcloud-followed');
          return;
        }
        var isNew = essence(fresh) !== essence(part);
        if (isNew) {
          renew(part, fresh);
        }
        if (!part.find('#pcloud-under-way').length) {
          part.removeClass('pcloud-followed');
          return;
        }
        // A busy cloud, and moves that take long, are asked less often.
        var least = Math.max(SOON, 4 * (Date.now() - began));
        lookLater(part, isNew ? least : Math.min(SELDOM, Math.max(least, 1.5 * wait)));
      })
      .fail(function (answer) {
        if (leaveIfEnded(answer) || answer.status === 403) {
          part.removeClass('pcloud-followed');
          return;
        }
        lookLater(part, Math.min(SELDOM, 2 * wait));
      });
  }

  // Whoever has chosen text or a link of the part would lose it.
  function isRead(part) {
    var chosen = window.getSelection();
    var focus = document.activeElement;
    return !chosen.isCollapsed && $.contains(part[0], chosen.anchorNode) ||
      $.contains(part[0], focus) && !focus.id;
  }

  // What the user sees; each answer has another token against forgery.
  function essence(part) {
    var copy = part.clone();
    copy.find('[name=csrfmiddlewaretoken]').remove();
    return copy.html();
  }

  function renew(part, fresh) {
    var focus = document.activeElement;
    var kept = $.contains(part[0], focus) ? focus.id : null;
    part.empty().append(fresh.contents());
    if (kept) {
      (document.getElementById(kept) || part[0]).focus();
    }
    $('#pcloud-moves-news').text(part.find('#pcloud-left, #pcloud-stopped, #pcloud-plan').first().text());
  }
})();

(function () {
  'use strict';

  angular
    .module('pcloud.dashboard')
    .controller('LaunchInstancePcloudController', LaunchInstancePcloudController);

  LaunchInstancePcloudController.$inject = [
    '$scope',
    'horizon.framework.util.http.service',
    'launchInstanceModel',
    'pcloud.dashboard.launch.words',
    'pcloud.dashboard.launch.places'
  ];

  // Pclouds, and instances, that are listed at once; the filter has the others.
  var MOST = 20;
  var MOST_NAMED = 8;
  // The choice for servers outside of Pclouds, as the hint has it.
  var OUTSIDE = 'none';

  /* Chooses the Pcloud of the new server, tells the capacity for as many as
     are asked for, and has the server near to or far from others. */
  function LaunchInstancePcloudController($scope, http, model, words, places) {
    var ctrl = this;
    var context = $scope.launchContext || {};
    var asked, placed, judged;

    ctrl.words = words.fixed();
    ctrl.items = [];
    ctrl.loaded = false;
    ctrl.failure = null;
    ctrl.changing = false;
    ctrl.filter = '';
    ctrl.room = null;
    ctrl.capacity = null;
    ctrl.choice = context.pcloud || '';
    ctrl.wishing = false;
    ctrl.wish = {near: {}, far: {}, strict: false};
    ctrl.pinned = null;
    ctrl.named = {};
    ctrl.racks = [];
    ctrl.hosts = null;
    ctrl.kept = null;
    ctrl.choose = choose;
    ctrl.list = list;
    ctrl.openWishes = openWishes;
    ctrl.listNamed = listNamed;
    ctrl.toggle = toggle;
    ctrl.wished = wished;
    ctrl.pin = pin;

    write();
    draw();
    http.get('/api/pcloud/pclouds/').then(function (answer) {
      ctrl.items = answer.data.items;
      ctrl.failure = answer.data.failure;
      ctrl.byDefault = answer.data.default;
      ctrl.loaded = true;
      explain();
    });

    $scope.$watch(function () {
      var spec = model.newInstanceSpec;
      return [spec.flavor && spec.flavor.id, spec.instance_count].join(' ');
    }, function () {
      // The model may have been made anew since the dialog was opened.
      write();
      explain();
    });

    // The Pcloud where the server starts, as far as the project may know it.
    function chosen() {
      var id = ctrl.choice || ctrl.byDefault && ctrl.byDefault.id;
      return ctrl.items.filter(function (each) {
        return each.id === id;
      })[0];
    }

    function choose(id) {
      ctrl.choice = id;
      ctrl.changing = false;
      ctrl.pinned = null;
      write();
      explain();
      if (ctrl.wishing) {
        place();
      }
      setTimeout(function () {
        $('#pcloud-change').trigger('focus');
      });
    }

    function write() {
      var near = Object.keys(ctrl.wish.near);
      var far = Object.keys(ctrl.wish.far);
      var wanted = {
        pcloud: ctrl.choice,
        pcloud_host: ctrl.pinned,
        near: near.length && near,
        far: far.length && far,
        locality: ctrl.wish.strict && near.length + far.length && 'strict'
      };
      var hints = model.newInstanceSpec.scheduler_hints;
      ctrl.hasWish = near.length + far.length > 0;
      angular.forEach(wanted, function (value, name) {
        if (value) {
          hints[name] = value;
        } else {
          delete hints[name];
        }
      });
    }

    function draw() {
      var spec = model.newInstanceSpec;
      var pcloud = chosen();
      ctrl.card = words.card(ctrl.choice, pcloud, ctrl.byDefault, ctrl.loaded);
      ctrl.capacity = words.capacity(
        ctrl.room, spec.instance_count, ctrl.pinned,
        ctrl.wish.strict && ctrl.hasWish ? ctrl.kept : null);
      ctrl.summary = words.summary(ctrl.wish, ctrl.pinned);
      ctrl.unseen = pcloud && pcloud.is_own ? '' : words.unseen(pcloud);
      list();
    }

    function list() {
      var flavor = model.newInstanceSpec.flavor;
      var all = words.choices(ctrl.items, ctrl.byDefault, flavor)
        .filter(function (each) {
          return matches(each.title, ctrl.filter);
        });
      ctrl.listed = all.slice(0, MOST);
      ctrl.more = words.more(all.length - MOST);
    }

    function matches(text, sought) {
      return text.toLowerCase().indexOf((sought || '').toLowerCase()) >= 0;
    }

    function explain() {
      var flavor = model.newInstanceSpec.flavor;
      var pcloud = chosen();
      var question = asked = {};
      draw();
      if (!pcloud || !pcloud.is_own || !flavor) {
        ctrl.room = null;
        draw();
        return;
      }
      http.get('/api/pcloud/pclouds/' + pcloud.id + '/explain/',
               {params: {flavor: flavor.id}}).then(function (answer) {
        // A later choice has asked for another capacity.
        if (question === asked) {
          ctrl.room = answer.data;
          judge();
        }
      });
    }

    // Near to, and far from, other servers.

    function openWishes() {
      ctrl.wishing = !ctrl.wishing;
      if (!ctrl.wishing || ctrl.named.items) {
        return;
      }
      http.get('/api/pcloud/servers/').then(function (answer) {
        ctrl.named = answer.data;
        angular.forEach(ctrl.named.items, words.name);
        listNamed();
      });
      place();
    }

    function listNamed() {
      var all = (ctrl.named.items || []).filter(function (each) {
        return ctrl.wish.near[each.hint] || ctrl.wish.far[each.hint] ||
          matches(each.title, ctrl.sought);
      });
      // What is named already is never hidden behind the others.
      all.sort(function (one, other) {
        return isNamed(other) - isNamed(one);
      });
      ctrl.offered = all.slice(0, Math.max(MOST_NAMED, all.filter(isNamed).length));
      ctrl.moreNamed = words.more(all.length - ctrl.offered.length);
    }

    function isNamed(each) {
      return !!(ctrl.wish.near[each.hint] || ctrl.wish.far[each.hint]);
    }

    function toggle(kind, each) {
      var other = kind === 'near' ? 'far' : 'near';
      delete ctrl.wish[other][each.hint];
      if (ctrl.wish[kind][each.hint]) {
        delete ctrl.wish[kind][each.hint];
      } else {
        ctrl.wish[kind][each.hint] = each.title;
      }
      wished();
    }

    function wished() {
      write();
      judge();
    }

    function pin(name) {
      ctrl.pinned = ctrl.pinned === name ? null : name;
      wished();
    }

    function place() {
      var pcloud = chosen();
      var question = placed = {};
      ctrl.hosts = null;
      ctrl.racks = [];
      if (!pcloud || !pcloud.is_own) {
        return;
      }
      http.get('/api/pcloud/pclouds/' + pcloud.id + '/places/').then(function (answer) {
        if (question === placed) {
          ctrl.hosts = answer.data.items;
          ctrl.unseen = answer.data.failure;
          judge();
        }
      });
    }

    // Asks Pcloud's own rule which hosts are kept.
    function judge() {
      var question = judged = {};
      if (!ctrl.hosts) {
        draw();
        return;
      }
      http.post('/api/pcloud/locality/', places.question(
        ctrl.hosts, ctrl.wish, ctrl.pinned, ctrl.room)).then(function (answer) {
        if (question === judged) {
          ctrl.kept = answer.data.hosts;
          ctrl.racks = places.racks(
            ctrl.hosts, ctrl.wish, ctrl.pinned, ctrl.room, ctrl.kept);
          ctrl.where = words.where(ctrl.kept, ctrl.hosts.length);
          ctrl.elsewhere = words.elsewhere(ctrl.hosts, ctrl.wish);
          draw();
        }
      });
    }
  }
})();
